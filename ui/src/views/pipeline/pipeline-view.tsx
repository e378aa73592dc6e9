import type { MutesAnswer, PipelineAnswer } from '../../data/answers.ts';
import { questionPath, useAnswer } from '../../data/use-answer.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { onlyPanel } from '../../state/place.ts';
import { Deliveries } from './deliveries.tsx';
import { Freshness } from './freshness.tsx';
import { Mutes } from './mutes.tsx';
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
      <div class="columns wide-first">
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
      </div>
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
