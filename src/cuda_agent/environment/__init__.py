"""From a folder to an Evaluation: workspace, submission, rules, build, verify, profile, reward."""
