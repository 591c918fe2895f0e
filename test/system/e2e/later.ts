/** Tests that are skipped for now → the issue that makes them possible. */
export const later = {
  network: 'issue 4, network of nodes',
} as const;
