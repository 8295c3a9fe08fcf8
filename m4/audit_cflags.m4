# AUDIT_ADD_CFLAGS(VARIABLE, FLAGS)
# Appends to VARIABLE those of FLAGS that this compiler takes without complaint.
# clang only warns about a flag it does not know, hence -Werror in the trial.
AC_DEFUN([AUDIT_ADD_CFLAGS], [
  for audit_flag in $2; do
    AS_VAR_PUSHDEF([audit_cache], [audit_cv_cflag_$audit_flag])
    AC_CACHE_CHECK([whether $CC takes $audit_flag], [audit_cache],
      [audit_saved_cflags=$CFLAGS
       CFLAGS="$CFLAGS -Werror $audit_flag"
       AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
         [AS_VAR_SET([audit_cache], [yes])], [AS_VAR_SET([audit_cache], [no])])
       CFLAGS=$audit_saved_cflags])
    AS_VAR_IF([audit_cache], [yes], [AS_VAR_APPEND([$1], [" $audit_flag"])])
    AS_VAR_POPDEF([audit_cache])
  done
])

# AUDIT_NEED_MODULE(VARIABLE, MODULE, DEBIAN-PACKAGE)
# Like PKG_CHECK_MODULES, but a missing module is noted and told by AUDIT_NEED_REPORT, so that one
# run of configure names everything that is missing.
AC_DEFUN([AUDIT_NEED_MODULE], [
  PKG_CHECK_MODULES([$1], [$2], [], [AUDIT_NOTE_MISSING([$2], [$3])])
])

# AUDIT_NOTE_MISSING(WHAT, DEBIAN-PACKAGE)
AC_DEFUN([AUDIT_NOTE_MISSING], [
  AS_VAR_APPEND([audit_missing], ["
  $1 (Debian package $2)"])
  AS_VAR_APPEND([audit_missing_packages], [" $2"])
])

# AUDIT_NEED_REPORT: stops when anything was missing.
AC_DEFUN([AUDIT_NEED_REPORT], [
  AS_IF([test -n "$audit_missing"], [AC_MSG_ERROR([not found:$audit_missing
On Debian or Ubuntu: sudo apt-get install$audit_missing_packages
or let ./setup build do it.])])
])
