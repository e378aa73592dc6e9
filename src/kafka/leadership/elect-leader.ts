/** A member of the group, and whether it says that it leads. */
export interface Candidate {
  readonly memberId: string;
  readonly leads: boolean;
}

/**
 * Who leads from now on: whoever has led until now, so that one that comes or goes changes nothing for the
 * others; else the first by name.
 */
export function electLeader(members: readonly Candidate[]): string | undefined {
  const leading = members.filter(({ leads }) => leads);
  const among = leading.length > 0 ? leading : members;
  return among.map(({ memberId }) => memberId).sort()[0];
}
