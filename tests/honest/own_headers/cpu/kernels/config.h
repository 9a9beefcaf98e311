#ifndef CONFIG_H_
#define CONFIG_H_
#define UNROLL 4
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define STRING_OF(x) #x
#endif  // CONFIG_H_
