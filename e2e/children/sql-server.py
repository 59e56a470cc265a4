"""Answers SQL, one statement a line, over one connection that stays open: a stock reader beside a store.

    sql-server.py FILE
"""
import json
import sqlite3
import sys

db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
db.row_factory = sqlite3.Row
for line in sys.stdin:
    try:
        answer = {"rows": [dict(row) for row in db.execute(json.loads(line))]}
    except sqlite3.Error as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
db.close()
