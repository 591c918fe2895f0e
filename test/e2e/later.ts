/** What tests skip for now → the issue that makes it possible. */
export const later = {
  network: 'issue 4, network of nodes',
  scripts: 'the issue of scripts',
  contracts: 'the issue of container contracts',
  nationalCrypto: 'the issue of the national-standard cryptography',
} as const;
