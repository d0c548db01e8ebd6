/** Version of the interface for callers, raised by semantic versioning. */
export const interfaceVersion = '1.4.0'

/** Every response has the version in it. */
export const versionHeader = 'Sluice-Api-Version'
