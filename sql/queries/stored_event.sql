-- An event as it was told: nothing if it was not.
SELECT body FROM anomalies FINAL WHERE id = {id:String} AND revision = {revision:UInt32}
