import { freshness, staleness } from '../data/freshness.ts';
import { health, isAsking, isHeld } from '../data/use-answer.ts';
import { zoneName } from '../format/time.ts';
import { copied, copyLink } from '../state/copy.ts';
import { isHelpOpen } from '../state/keys.ts';
import { nowMs } from '../state/now.ts';
import { hrefTo, place } from '../state/place.ts';
import { hasSession, logOut } from '../state/session.ts';
import { theme, toggleTheme } from '../state/theme.ts';
import { hasRange, isOfTimes, isRelative, type Place, rangeOf } from '../state/url.ts';
import { toggleUtc, utc, zone } from '../state/zone.ts';
import { type MenuEntry, MoreMenu } from './more-menu.tsx';
import { Time } from './time.tsx';
import { TimePicker } from './time-picker.tsx';

const titles = {
  held: 'Does not refresh while something is selected',
  paused: 'Does not refresh while the page is hidden',
  live: 'Asks for new data every 5 s',
  behind: 'What is stored or evaluated is behind',
  fixed: 'A fixed range of time',
} as const;
const views = [
  ['now', 'Now'],
  ['compare', 'Compare'],
  ['pipeline', 'Pipeline'],
] as const;

/** The same on every view: where one is, and over which time. */
export function TopBar() {
  const { view } = place.value.route;
  return (
    <header class="top">
      <a class="brand" href={hrefTo({ view: 'now' })}>
        tailmark
      </a>
      <nav aria-label="Views">
        {views.map(([name, label]) => (
          <a
            key={name}
            href={hrefTo({ view: name })}
            aria-current={view === name ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      {hasRange(place.value) && <TimePicker />}
      <Liveness />
      <Switches />
      <MoreMenu class="narrow-only" label="More of this page" entries={actions()} />
      <p class="toast" role="status">
        {copied.value}
      </p>
    </header>
  );
}

interface Action extends MenuEntry {
  /** Text of its button, where the bar has room. */
  readonly short: string;
  /** Its name for those who do not see it. @default the label */
  readonly name?: string;
  readonly title: string;
}

/** Actions on the page: buttons in the bar, entries of a menu where it has no room. */
function actions(): readonly Action[] {
  const other = theme.value === 'dark' ? 'Light theme' : 'Dark theme';
  return [
    {
      ...{ label: `Times in UTC (now ${zoneText()})`, isOn: utc.value, run: toggleUtc },
      ...{ short: zoneText(), title: 'UTC or local time  u' },
      name: `Times in ${zoneText()}; switch between UTC and local time`,
    },
    {
      ...{ label: 'Copy link with absolute times', run: () => void copyLink() },
      ...{ short: 'Copy link', title: 'Copy link with absolute times  c' },
    },
    {
      ...{ label: other, run: toggleTheme },
      ...{ short: theme.value === 'dark' ? '☀' : '☾', title: other },
    },
    { label: 'Keys', run: openHelp, short: '?', title: 'Keys  ?' },
    ...(hasSession.value
      ? [
          {
            ...{ label: 'Log out', run: () => void logOut() },
            ...{ short: 'Log out', title: "End this browser's session" },
          },
        ]
      : []),
  ];
}

function Switches() {
  return (
    <div class="switches">
      {actions().map(({ label, short, name = label, title, isOn, run }) => (
        <button
          key={title}
          type="button"
          title={title}
          aria-pressed={isOn}
          aria-label={name}
          onClick={run}
        >
          {short}
        </button>
      ))}
    </div>
  );
}

function openHelp(): void {
  isHelpOpen.value = true;
}

function zoneText(): string {
  return zoneName(rangeOf(place.value, nowMs()).toMs, zone.value);
}

/** True if the content of the page has ended: an incident and the pipeline follow the clock. */
function isFixed(at: Place): boolean {
  return isOfTimes(at) || (hasRange(at) && !isRelative(at));
}

/** Shows whether the page follows the clock, and its age where it cannot. */
function Liveness() {
  const { failure, asOfMs } = health.value;
  if (failure !== undefined) {
    return (
      <p class="liveness stale">
        <i aria-hidden="true" />
        <span>
          {asOfMs === undefined ? 'no data' : 'as of '}
          {asOfMs !== undefined && <Time at={asOfMs} />}
        </span>
      </p>
    );
  }
  const known = freshness.value;
  const isBehind = known !== undefined && staleness(known, String) !== undefined;
  const state = isHeld.value
    ? 'held'
    : !isAsking.value
      ? 'paused'
      : isFixed(place.value)
        ? 'fixed'
        : isBehind
          ? 'behind'
          : 'live';
  return (
    <p class={`liveness ${state === 'behind' ? 'stale' : state}`} title={titles[state]}>
      <i aria-hidden="true" /> <span>{state}</span>
    </p>
  );
}
