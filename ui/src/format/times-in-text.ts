/**
 * Times within a text of the server, which has them in UTC: of messages, of evidence, of a verdict. A page
 * shows them in its own zone.
 */

const day = String.raw`\d{4}-\d\d-\d\d`;
const clock = String.raw`\d\d:\d\d:\d\d(?:\.\d+)?`;
/** `2026-11-21 10:17:30Z`, `… UTC`, RFC 3339, or a span whose ends share the zone, and the day where it is one. */
const pattern = new RegExp(
  `(${day})[ T](${clock})(?:(?:Z| UTC)| to (?:(${day}) )?(${clock}) UTC)`,
  'g',
);

/** The text in parts: as it is, or a time in epoch milliseconds. */
export function timesInText(text: string): readonly (string | number)[] {
  const parts: (string | number)[] = [];
  let end = 0;
  for (const { index, 0: whole, 1: from, 2: fromTime, 3: to = from, 4: toTime } of text.matchAll(
    pattern,
  )) {
    const times = [Date.parse(`${from}T${fromTime}Z`)];
    if (toTime !== undefined) times.push(Date.parse(`${to}T${toTime}Z`));
    // No time of a calendar: a name that looks like one.
    if (times.some(Number.isNaN)) continue;
    parts.push(
      text.slice(end, index),
      ...times.flatMap((ms, i) => (i === 0 ? [ms] : [' to ', ms])),
    );
    end = index + whole.length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

/** A part of a sentence as a separate sentence. Names such as `p99` stay as they are. */
export function asSentence(text: string): string {
  return /^[a-z]+\b/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
