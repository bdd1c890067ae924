/* Stands in for the pyconfig.h of CPython when tools/cross.py compiles for other systems: what its
 * headers ask of a 64-bit Windows, macOS or Linux under the limited API. */
#ifndef ARAPLBS_PYCONFIG_H
#define ARAPLBS_PYCONFIG_H

#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_PID_T 4
#define SIZEOF_TIME_T 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define ALIGNOF_LONG __SIZEOF_LONG__
#define HAVE_STDINT_H 1
#define HAVE_WCHAR_H 1
#define WITH_THREAD 1

#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1 /* Python's data are imported from a DLL */
#define SIZEOF_OFF_T 4
#else
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_STAT_H 1
#define SIZEOF_OFF_T 8
#endif

#endif
