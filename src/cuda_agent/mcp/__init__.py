"""Tasks and the judge for agents that people already use, over the Model Context Protocol."""
