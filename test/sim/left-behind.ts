/**
 * Resources of the machine that a run still holds, such as `Timeout` or `TCPSocketWrap`, in words; empty
 * without any.
 *
 * @param before `process.getActiveResourcesInfo()` before the first run of the thread
 * @param after the same now
 */
export function leftBehind(before: readonly string[], after: readonly string[]): string {
  const known = [...before];
  const left = after.filter((name) => {
    // The scheduler's own turns of the event loop, and the worker's message port.
    if (name === 'Immediate' || name === 'MessagePort') return false;
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
  return left.join(', ');
}
