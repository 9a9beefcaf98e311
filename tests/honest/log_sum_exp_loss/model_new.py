"""The mean of log(sum(exp(row))) - row[target]."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        losses = logits.new_empty(logits.size(0))
        loss = logits.new_empty(())
        kernels.row_losses(logits, target, losses)
        kernels.mean(losses, loss)
        return loss
