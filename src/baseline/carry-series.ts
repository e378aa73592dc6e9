import type { Series } from './series-window.ts';
import type { StateArchive } from './state-archive.ts';

const nobody: Series = {
  service: '',
  model: '',
  version: '',
  request_type: '',
  region: '',
  host: '',
  tenant: '',
  cold_start: false,
};

export function carrySeries(state: StateArchive, series: Series = nobody): Series {
  let carried = series;
  state.section('series', 1, () => {
    carried = {
      service: state.text(series.service),
      model: state.text(series.model),
      version: state.text(series.version),
      request_type: state.text(series.request_type),
      region: state.text(series.region),
      host: state.text(series.host),
      tenant: state.text(series.tenant),
      cold_start: state.flag(series.cold_start),
    };
  });
  return carried;
}
