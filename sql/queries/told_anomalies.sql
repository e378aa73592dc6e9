-- Which of these anomalies people were told of.
SELECT DISTINCT id FROM anomalies WHERE id IN {ids:Array(String)}
