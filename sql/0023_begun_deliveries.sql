-- Whether the receiver may have something of the anomaly though no row says that it accepted it, as of this row. A row
-- `begun` is stored before an attempt where that is not so yet: one without a later row was cut short by a kill.
-- Of rows of earlier versions it is unknown.
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS may_have_arrived Bool DEFAULT true AFTER memory;
