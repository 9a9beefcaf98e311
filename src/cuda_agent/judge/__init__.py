"""Is it right, and how fast is it.

Three kinds of process, and only the first is trusted with a verdict:

- the judge (judge.py and what it imports): holds expected values, the auditing clock, the verdict;
- the reference process (reference.py): holds the task's own program, the seeds, both baselines;
- the runner (runner.py): holds one submission, and nothing worth stealing.

They speak through wire.py. Tensors cross in mailboxes (mailbox.py) that the judge owns.
"""
