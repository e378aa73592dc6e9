/**
 * Reasons why an event or a message was not counted: a closed list, documented in docs/reference/event.md.
 * `late`, `future` and `too_many_windows` come from the window, `undecodable_batch` from the source, the rest
 * from the decoder of the topic's format.
 */
export const rejectReasons = [
  'undecodable_batch',
  'tombstone',
  'empty_message',
  'message_too_large',
  'too_many_events',
  'invalid_utf8',
  'invalid_json',
  'not_an_object',
  'too_deep',
  'invalid_protobuf',
  'invalid_avro',
  'unknown_schema',
  'no_end',
  'ends_before_start',
  'no_root',
  'several_roots',
  'late_span',
  'too_many_spans',
  'too_many_traces',
  'missing_ts',
  'bad_ts',
  'ts_out_of_range',
  'missing_model',
  'bad_dimension',
  'bad_status',
  'bad_field',
  'missing_durations',
  'bad_duration',
  'duration_too_large',
  'bad_stage_name',
  'too_many_stages',
  'late',
  'future',
  'too_many_windows',
] as const;

export type RejectReason = (typeof rejectReasons)[number];
