-- What a receiver has accepted, of ids that begin with a text.
SELECT DISTINCT id
FROM deliveries
WHERE receiver = {receiver:String} AND startsWith(id, {start:String}) AND outcome = 'accepted'
