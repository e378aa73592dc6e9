/** A member of the group; `leads` is its own claim to lead. */
export interface Candidate {
  readonly memberId: string;
  readonly leads: boolean;
}

/**
 * Elects the leader. The current leader stays, so a member that joins or leaves changes nothing for the
 * others. Without one the first member id wins.
 */
export function electLeader(members: readonly Candidate[]): string | undefined {
  const leading = members.filter(({ leads }) => leads);
  const among = leading.length > 0 ? leading : members;
  return among.map(({ memberId }) => memberId).sort()[0];
}
