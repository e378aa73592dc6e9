/** A window is learnt only when so many more have come and none of them opened an anomaly. */
export const quarantineWindows = 6;
