/** Another process leads and emits the pending events. */
export class LeadLost extends Error {
  constructor() {
    super('another process leads');
  }
}
