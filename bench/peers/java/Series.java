/** What tells series apart. */
record Series(String model, String version, String requestType, String region, boolean coldStart) {}
