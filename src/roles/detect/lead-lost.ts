/** Another process judges by now: what this one has not told yet is told there. */
export class LeadLost extends Error {
  constructor() {
    super('another process leads');
  }
}
