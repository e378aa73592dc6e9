-- How many parts of a snapshot of a detector's state there are; nothing where there are none.
SELECT uniqExact(part) AS parts
FROM detector_state
WHERE detector = {detector:String} AND slot = {slot:UInt8} AND snapshot = {snapshot:String}
HAVING parts > 0
