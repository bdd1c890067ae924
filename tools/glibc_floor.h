/* Force-included by setup.py into every C file.  glibc gave these functions a new symbol version
 * without changing what we use of them; linked as usual, the wheel would ask for the glibc of the
 * machine that built it (2.35 on Debian 12).  Asking for the first version instead lets it run
 * wherever Blender's own builds run (glibc 2.28). */
#if defined(__x86_64__) && defined(__linux__)
#define GLIBC_FLOOR(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5");
GLIBC_FLOOR(exp)
GLIBC_FLOOR(exp2)
GLIBC_FLOOR(log)
GLIBC_FLOOR(log2)
GLIBC_FLOOR(pow)
GLIBC_FLOOR(hypot)
GLIBC_FLOOR(hypotf)
GLIBC_FLOOR(fmod)
GLIBC_FLOOR(fmodf)
GLIBC_FLOOR(pthread_create)
GLIBC_FLOOR(pthread_join)
GLIBC_FLOOR(pthread_once)
GLIBC_FLOOR(pthread_key_create)
GLIBC_FLOOR(pthread_getspecific)
GLIBC_FLOOR(pthread_setspecific)
GLIBC_FLOOR(pthread_mutex_trylock)
GLIBC_FLOOR(sem_init)
GLIBC_FLOOR(sem_post)
GLIBC_FLOOR(sem_wait)
GLIBC_FLOOR(sem_destroy)
#undef GLIBC_FLOOR
#endif
