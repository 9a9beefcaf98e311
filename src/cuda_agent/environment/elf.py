"""Reads what the dynamic linker will read of a shared library, without loading it.

Only the program headers and the dynamic section count, as for the dynamic linker itself: section
headers can be stripped or forged. Every offset is checked, for the file was made from untrusted source.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

MAX_LIBRARY_BYTES = 256 << 20

ELF64_LITTLE_ENDIAN = b"\x7fELF\x02\x01"
SHARED_OBJECT = 3
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ = 0, 1, 4, 5, 6, 10
UNDEFINED_SECTION = 0

LOADER_TAGS = {
    15: "RPATH",
    29: "RUNPATH",
    0x6FFFFEFC: "AUDIT",
    0x6FFFFEFB: "DEPAUDIT",
    0x7FFFFFFD: "AUXILIARY",
    0x7FFFFFFF: "FILTER",
}
"""Entries that make the dynamic linker look elsewhere or load more."""

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
ENTRY = struct.Struct("<qQ")
SYMBOL = struct.Struct("<IBBHQQ")


class ElfError(ValueError):
    """The file is not a shared library that this reader understands."""


@dataclass(frozen=True)
class DynamicSymbols:
    """A shared library's dealings with the world."""

    undefined: tuple[str, ...]
    """Names it needs from elsewhere, sorted."""
    defined: tuple[str, ...]
    """Names it offers, sorted."""
    needed: tuple[str, ...]
    """Libraries it makes the dynamic linker load."""
    loader_entries: tuple[str, ...]
    """Other entries that steer the dynamic linker, such as RPATH."""


def read_dynamic_symbols(library: Path) -> DynamicSymbols:
    """Read the dynamic section of a 64-bit little-endian shared library with a DT_HASH table.

    Raises:
        ElfError: it is not one, or it is damaged or larger than 256 MiB.
    """
    if library.stat().st_size > MAX_LIBRARY_BYTES:
        raise ElfError(f"the library is larger than {MAX_LIBRARY_BYTES >> 20} MiB")
    image = library.read_bytes()
    try:
        return _read(image)
    except ElfError:
        raise
    except (struct.error, IndexError, ValueError) as error:
        raise ElfError(f"the library is damaged: {error}") from error


def _read(image: bytes) -> DynamicSymbols:
    header = HEADER.unpack_from(image)
    if not header[0].startswith(ELF64_LITTLE_ENDIAN) or header[1] != SHARED_OBJECT:
        raise ElfError("not a 64-bit little-endian shared library")
    segment_offset, segment_count = header[5], header[10]
    segments = [SEGMENT.unpack_from(image, segment_offset + i * SEGMENT.size) for i in range(segment_count)]
    dynamic = next((segment for segment in segments if segment[0] == PT_DYNAMIC), None)
    if dynamic is None:
        raise ElfError("no dynamic section")
    entries = _read_entries(image, dynamic[2])
    single = dict(entries)
    for tag, name in ((DT_HASH, "DT_HASH"), (DT_STRTAB, "DT_STRTAB"), (DT_SYMTAB, "DT_SYMTAB")):
        if tag not in single:
            raise ElfError(f"no {name} entry")
    strings_at = _to_offset(segments, single[DT_STRTAB])
    strings = image[strings_at : strings_at + single.get(DT_STRSZ, 0)]
    count = struct.unpack_from("<II", image, _to_offset(segments, single[DT_HASH]))[1]
    undefined, defined = _read_symbols(
        image, _to_offset(segments, single[DT_SYMTAB]), count=count, strings=strings
    )
    needed = tuple(_read_string(strings, value) for tag, value in entries if tag == DT_NEEDED)
    loader = tuple(LOADER_TAGS[tag] for tag, _ in entries if tag in LOADER_TAGS)
    return DynamicSymbols(undefined, defined, needed, loader)


def _read_entries(image: bytes, offset: int) -> list[tuple[int, int]]:
    entries: list[tuple[int, int]] = []
    while True:
        tag, value = ENTRY.unpack_from(image, offset + len(entries) * ENTRY.size)
        if tag == DT_NULL:
            return entries
        entries.append((tag, value))


def _to_offset(segments: list[tuple[int, ...]], address: int) -> int:
    for kind, _, offset, start, _, in_file, *_ in segments:
        if kind == PT_LOAD and start <= address < start + in_file:
            return offset + address - start
    raise ElfError(f"address {address:#x} lies in no segment")


def _read_symbols(
    image: bytes, offset: int, *, count: int, strings: bytes
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    undefined: set[str] = set()
    defined: set[str] = set()
    for i in range(1, count):
        name_at, _, _, section, _, _ = SYMBOL.unpack_from(image, offset + i * SYMBOL.size)
        name = _read_string(strings, name_at)
        (undefined if section == UNDEFINED_SECTION else defined).add(name)
    return tuple(sorted(undefined)), tuple(sorted(defined))


def _read_string(strings: bytes, offset: int) -> str:
    end = strings.index(b"\0", offset) if offset < len(strings) else -1
    if end < 0:
        raise ElfError("a name lies outside the string table")
    return strings[offset:end].decode("ascii")
