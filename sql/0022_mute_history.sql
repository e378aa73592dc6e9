-- Who added a mute and who ended it. `who` is the login since then; before, whatever the request said.
ALTER TABLE mutes ADD COLUMN IF NOT EXISTS on_behalf_of String AFTER who;
ALTER TABLE mutes ADD COLUMN IF NOT EXISTS added_at Nullable(DateTime64(3, 'UTC')) AFTER on_behalf_of;
-- The end that was asked for: `until_time` is when a mute ends, or was ended.
ALTER TABLE mutes ADD COLUMN IF NOT EXISTS planned_until Nullable(DateTime64(3, 'UTC')) AFTER added_at;
ALTER TABLE mutes ADD COLUMN IF NOT EXISTS ended_at Nullable(DateTime64(3, 'UTC')) AFTER planned_until;
ALTER TABLE mutes ADD COLUMN IF NOT EXISTS ended_by String AFTER ended_at;
