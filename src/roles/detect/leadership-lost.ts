/** Another process leads and emits the pending events. */
export class LeadershipLost extends Error {
  constructor() {
    super('another process leads');
  }
}
