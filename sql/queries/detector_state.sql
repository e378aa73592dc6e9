-- The parts of a snapshot of a detector's state.
SELECT part, state
FROM detector_state
WHERE detector = {detector:String} AND slot = {slot:UInt8} AND snapshot = {snapshot:String}
LIMIT 1 BY part
FORMAT RowBinary
