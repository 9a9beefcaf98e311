"""Pages from what runs left behind: static, offline, with their numbers as JSON beside them."""
