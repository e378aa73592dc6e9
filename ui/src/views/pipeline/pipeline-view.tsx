import type { MuteRow, MutesAnswer, PipelineAnswer } from '../../data/answers.ts';
import { questionPath, useAnswer } from '../../data/use-answer.ts';
import { formatCount, secondsText } from '../../format/number.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { onlyPanel } from '../../state/place.ts';
import { Freshness } from './freshness.tsx';
import { Partitions } from './partitions.tsx';
import { Stored } from './stored.tsx';

/** The page that says whether the numbers are current and exact. */
export function PipelineView() {
  const answered = useAnswer<PipelineAnswer>(questionPath('pipeline', {}));
  const muted = useAnswer<MutesAnswer>(questionPath('mute-history', {}));
  const { answer } = answered.value;
  return (
    <>
      {onlyPanel.value === undefined && <PageTitle text={answer?.title ?? 'Pipeline'} />}
      <div class="columns">
        <Panel
          name="freshness"
          title="Current"
          answered={answered}
          minHeight={120}
          partial={({ problems }) => problems.length > 0 && 'Not ready.'}
        >
          {(answer) => <Freshness answer={answer} />}
        </Panel>
        <Panel
          name="stored"
          title="Exact"
          answered={answered}
          minHeight={120}
          partial={({ ledger }) => (ledger.ok ? undefined : 'The ledger has problems.')}
          table={({ stored_last_hour: hour }) => ({
            heads: ['events', 'last hour'],
            rows: [
              ...[['consumed', hour.consumed] as const, ['aggregated', hour.aggregated] as const],
              ...[['late', hour.late] as const, ['rejected', hour.rejected_events] as const],
              ...hour.rejected.map(({ reason, events }) => [`rejected: ${reason}`, events]),
            ],
          })}
        >
          {(answer) => <Stored answer={answer} />}
        </Panel>
      </div>
      <Panel
        name="partitions"
        title="Partitions"
        answered={answered}
        empty={({ partitions }) => partitions.length === 0 && 'Nothing is stored yet.'}
      >
        {(answer) => <Partitions answer={answer} />}
      </Panel>
      <Panel
        name="deliveries"
        title="Deliveries"
        answered={answered}
        empty={({ deliveries }) =>
          deliveries.length === 0 && 'No receiver is configured: see alert.receivers.'
        }
      >
        {(answer) => <Deliveries answer={answer} />}
      </Panel>
      <Panel
        name="mutes"
        title="Mutes of the last 30 days"
        answered={muted}
        empty={({ rows }) => rows.length === 0 && 'Nothing was muted.'}
      >
        {(answer) => <Mutes answer={answer} />}
      </Panel>
    </>
  );
}

const deliveryColumns: readonly Column<PipelineAnswer['deliveries'][number]>[] = [
  { head: 'Receiver', class: 'name', cell: ({ receiver }) => receiver },
  { head: 'Due', isNumber: true, cell: ({ due }) => <Value value={due} as={formatCount} /> },
  {
    head: 'Oldest',
    isNumber: true,
    cell: ({ oldest_due_seconds: seconds }) => <Value value={seconds} as={secondsText} />,
  },
  { head: 'Last accepted', cell: ({ last_accepted_at: at }) => <Time at={at} /> },
  { head: 'Last answer', class: 'long', cell: ({ last_answer }) => last_answer },
];

/** Deliveries due at each receiver, and its last answer. */
function Deliveries({ answer }: { readonly answer: PipelineAnswer }) {
  return (
    <Table
      caption="Receivers, and what is due at them"
      columns={deliveryColumns}
      rows={answer.deliveries}
      keyOf={({ receiver }) => receiver}
    />
  );
}

const muteColumns: readonly Column<MuteRow>[] = [
  { head: 'What', class: 'name', cell: whatOf },
  { head: 'From', cell: ({ from }) => <Time at={from} /> },
  { head: 'Until', cell: ({ until }) => <Time at={until} /> },
  { head: 'Why', class: 'long', cell: ({ why }) => why },
  {
    head: 'Who',
    cell: ({ who, on_behalf_of: other }) => (other === null ? who : `${who} for ${other}`),
  },
  { head: 'Ended by', cell: ({ ended_by, state }) => ended_by ?? ends[state] },
];

/** Mutes, their authors, and who ended them. */
function Mutes({ answer }: { readonly answer: MutesAnswer }) {
  return (
    <Table
      caption="Mutes, who added and who ended them"
      columns={muteColumns}
      rows={answer.rows}
      keyOf={({ id }) => id}
    />
  );
}

/** Texts that are shown in place of a name. */
const ends = { later: 'begins later', holds: 'still holds', over: 'ran out' } as const;

function whatOf({ models, kinds, dimensions }: MuteRow): string {
  return [
    ...(models.length > 0 ? [`model ${models.join(' or ')}`] : []),
    ...(kinds.length > 0 ? [`kind ${kinds.join(' or ')}`] : []),
    ...Object.entries(dimensions).map(([dimension, value]) => `${dimension} ${value}`),
  ].join(', ');
}
