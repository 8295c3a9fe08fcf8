"""Runs SQL in DuckDB's library, to make Parquet files of: parquet.py LIBRARY SQL..."""

import ctypes
import sys


class Result(ctypes.Structure):
    _fields_ = [("room", ctypes.c_uint64 * 8)]


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.duckdb_result_error.restype = ctypes.c_char_p
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    if library.duckdb_open(None, ctypes.byref(database)) or library.duckdb_connect(database, ctypes.byref(connection)):
        sys.exit("no database")
    for sql in sys.argv[2:]:
        result = Result()
        if library.duckdb_query(connection, sql.encode(), ctypes.byref(result)):
            sys.exit(library.duckdb_result_error(ctypes.byref(result)).decode())


main()
