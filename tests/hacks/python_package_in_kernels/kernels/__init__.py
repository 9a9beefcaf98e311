import torch


def relu(x, y):
    torch.relu(x, out=y)
