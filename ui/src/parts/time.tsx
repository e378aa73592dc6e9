import { formatAs, formatTime, zoneName } from '../format/time.ts';
import { asSentence, timesInText } from '../format/times-in-text.ts';
import { zone, zoneNow } from '../state/zone.ts';

interface TimeProps {
  /** Epoch milliseconds, or RFC 3339; null for none: "–". */
  readonly at: number | string | null;
}

/** A time in the zone of the page; its title has all of it. */
export function Time({ at }: TimeProps) {
  if (at === null) return <>–</>;
  const ms = typeof at === 'number' ? at : Date.parse(at);
  const iso = new Date(ms).toISOString();
  return (
    <time dateTime={iso} title={`${formatAs(ms, 'full', zone.value)} ${zoneName(ms, zone.value)}`}>
      {formatTime(ms, zoneNow())}
    </time>
  );
}

/** A text of the server with its times in the zone of the page. */
export function WithTimes({ text }: { readonly text: string }) {
  return (
    <>
      {timesInText(text).map((part, i) =>
        typeof part === 'number' ? <Time key={i} at={part} /> : part,
      )}
    </>
  );
}

/** The same as a sentence that stands alone. */
export function Sentence({ text }: { readonly text: string }) {
  return <WithTimes text={asSentence(text)} />;
}
