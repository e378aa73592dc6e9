import { health } from './data/use-answer.ts';
import { Help } from './parts/help.tsx';
import { Login } from './parts/login.tsx';
import { StaleNotice, WrongTimes } from './parts/page-notices.tsx';
import { PageTitle } from './parts/page-title.tsx';
import { TopBar } from './parts/top-bar.tsx';
import { hrefTo, onlyPanel, place } from './state/place.ts';
import { CompareView } from './views/compare/compare-view.tsx';
import { IncidentView } from './views/incident/incident-view.tsx';
import { ModelView } from './views/model/model-view.tsx';
import { NowView } from './views/now/now-view.tsx';
import { PipelineView } from './views/pipeline/pipeline-view.tsx';

/** The whole page. */
export function App() {
  const isOnly = onlyPanel.value !== undefined;
  return (
    <div class={isOnly ? 'app only' : 'app'}>
      {!isOnly && <TopBar />}
      {health.value.needsLogin ? <Login /> : null}
      <main hidden={health.value.needsLogin}>
        <StaleNotice />
        <WrongTimes />
        <View />
      </main>
      {!isOnly && <Help />}
    </div>
  );
}

function View() {
  const { route } = place.value;
  switch (route.view) {
    case 'now':
      return <NowView />;
    case 'pipeline':
      return <PipelineView />;
    case 'compare':
      return <CompareView />;
    case 'incident':
      return <IncidentView key={route.id} id={route.id} />;
    case 'model':
      return <ModelView key={route.model} model={route.model} />;
    default:
      return (
        <PageTitle text="There is no such page">
          <p>
            <a href={hrefTo({ view: 'now' })}>Now</a> shows all models.
          </p>
        </PageTitle>
      );
  }
}
