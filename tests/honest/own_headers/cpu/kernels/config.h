#ifndef CONFIG_H_
#define CONFIG_H_
#define UNROLL 4
#define STRING_OF(x) #x
#define PRAGMA(x) _Pragma(STRING_OF(x))
#endif  // CONFIG_H_
