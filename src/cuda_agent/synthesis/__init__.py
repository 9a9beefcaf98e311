"""Tasks made from operators: crawled, composed, filtered, probed and written as a data set.

The way of a task through this room: table, crawl -> compose (sampling, plan, write, trial, size) -> filters
(normal, label, similarity) -> probe (examine, in a sandbox) -> filters again -> output, card, audit.
"""
