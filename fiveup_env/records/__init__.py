"""Records: a match as lines of JSON text, written during play and checked against the rules when read."""

from fiveup_env.records.record_reader import Move, Record, RecordError, parse_record, read_record
from fiveup_env.records.recorder import Recorder

__all__ = ["Move", "Record", "RecordError", "Recorder", "parse_record", "read_record"]
