-- Stored events get the names that the anomaly event has now, so that an anomaly that an older version opened
-- is read, shown and resolved. `body` is compact JSON: a quote within a text is escaped, so a name between
-- quotes with a colon behind it is a field. Running it again changes nothing.
--
-- No detector of an older version may run meanwhile: it would go on writing the old names.
ALTER TABLE anomalies
UPDATE body = arrayFold(
    (text, name) -> replaceAll(text, name.1, name.2),
    [
        ('"series":', '"affected":'),
        ('"open":', '"unresolved":'),
        ('"of":', '"total":'),
        ('"of_slow":', '"share_of_slow":'),
        ('"of_all":', '"share_of_all":'),
        ('"usual_of_all":', '"baseline_share_of_all":'),
        ('"others_slow_rate":', '"slow_rate_of_others":'),
        ('"usual_slow_rate":', '"baseline_slow_rate":'),
        ('"usual_others_slow_rate":', '"baseline_slow_rate_of_others":'),
        ('"unit":"bad per request"', '"unit":"errors per request"'),
        ('"resolution":"adopted"', '"resolution":"rebaselined"'),
        ('"test":"exceedances"', '"test":"likelihood_ratio"')
    ],
    replaceRegexpOne(body, '"above_ms":[^,}]*,', ''))
WHERE true
SETTINGS mutations_sync = 2;
