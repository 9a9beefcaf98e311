"""Output of an untrusted command in bounded memory."""


class BoundedOutput:
    """Keeps the head and the tail of a stream, at most `limit_bytes` in all, and counts what is cut."""

    def __init__(self, limit_bytes: int) -> None:
        """An empty output."""
        self._head_limit = limit_bytes // 2
        self._tail_limit = limit_bytes - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._cut_bytes = 0

    def add(self, chunk: bytes) -> None:
        """Append a chunk, cutting the middle."""
        room = self._head_limit - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            del self._tail[:excess]
            self._cut_bytes += excess

    def read_text(self) -> str:
        """What was kept, undecodable bytes replaced, with a note where the middle was cut."""
        if not self._cut_bytes:
            return bytes(self._head + self._tail).decode(errors="replace")
        note = f"\n[... {self._cut_bytes} bytes cut ...]\n"
        return self._head.decode(errors="replace") + note + self._tail.decode(errors="replace")
