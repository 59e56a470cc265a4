"""Reads every table of a store as the Python original would: rows by column, JSON columns parsed by Python.

    read-back.py FILE
"""
import json
import sqlite3
import sys

JSON_COLUMNS = {"data", "event", "context", "entry"}
TABLES = {
    "executions": "id",
    "outbox": "seq",
    "processed_events": "execution_id, event_id",
    "timers": "execution_id, path",
    "spawns": "seq",
    "trace": "execution_id, idx",
}

db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row


def read(row):
    return {key: json.loads(row[key]) if key in JSON_COLUMNS else row[key] for key in row.keys()}


tables = {name: [read(row) for row in db.execute(f"SELECT * FROM {name} ORDER BY {order}")] for name, order in TABLES.items()}
[(integrity,)] = db.execute("PRAGMA integrity_check")
[(journal_mode,)] = db.execute("PRAGMA journal_mode")
[(user_version,)] = db.execute("PRAGMA user_version")
print(json.dumps({"tables": tables, "pragmas": [integrity, journal_mode, user_version]}))
db.close()
