-- One part of a snapshot of a detector's state.
SELECT state
FROM detector_state
WHERE detector = {detector:String} AND slot = {slot:UInt8} AND part = {part:String} AND snapshot = {snapshot:String}
LIMIT 1
FORMAT RowBinary
