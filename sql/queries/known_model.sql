-- A row where any request of a model is stored, and none otherwise.
SELECT 1 AS known
FROM latency_1d
WHERE model = {model:String}
LIMIT 1
