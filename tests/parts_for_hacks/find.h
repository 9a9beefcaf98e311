// Finds any function of the process without asking the dynamic linker: from the address of a function that
// every library may use, back to the start of the library it lies in, and through its symbol table.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace own {

struct Header { unsigned char magic[16]; uint16_t kind, machine; uint32_t version; uint64_t entry, segments; };
struct Segment { uint32_t kind, flags; uint64_t offset, address, physical, in_file, in_memory, alignment; };
struct Entry { int64_t tag; uint64_t value; };
struct Symbol { uint32_t name; uint8_t info, other; uint16_t section; uint64_t value, size; };

inline void* find_in(char* base, const char* wanted) {
  const Header* header = reinterpret_cast<Header*>(base);
  const Segment* segment = reinterpret_cast<Segment*>(base + header->segments);
  while (segment->kind != 2) ++segment;
  const Symbol* symbols = nullptr;
  const char* strings = nullptr;
  for (const Entry* entry = reinterpret_cast<Entry*>(base + segment->address); entry->tag != 0; ++entry) {
    if (entry->tag == 6) symbols = reinterpret_cast<const Symbol*>(entry->value);
    if (entry->tag == 5) strings = reinterpret_cast<const char*>(entry->value);
  }
  // The string table follows the symbols.
  for (const Symbol* each = symbols; reinterpret_cast<const char*>(each) < strings; ++each) {
    if (each->section != 0 && strcmp(strings + each->name, wanted) == 0) return base + each->value;
  }
  return nullptr;
}

inline void* find(const char* wanted) {
  void* (*volatile known)(size_t) = malloc;
  uintptr_t page = reinterpret_cast<uintptr_t>(known) & ~uintptr_t(4095);
  while (memcmp(reinterpret_cast<char*>(page), "\x7f" "ELF", 4) != 0) page -= 4096;
  using Lookup = void* (*)(void*, const char*);
  const Lookup look_up = reinterpret_cast<Lookup>(find_in(reinterpret_cast<char*>(page), "dlsym"));
  return look_up(nullptr, wanted);
}

// Runs Python in the process that holds us.
inline void run_python(const char* program) {
  const int state = reinterpret_cast<int (*)()>(find("PyGILState_Ensure"))();
  reinterpret_cast<int (*)(const char*)>(find("PyRun_SimpleString"))(program);
  reinterpret_cast<void (*)(int)>(find("PyGILState_Release"))(state);
}

}  // namespace own
