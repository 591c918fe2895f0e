/**
 * Roles of accounts: names as in JSON, numbers as in bytes and keys
 * (blocks.md#genesis-transactions).
 */

/** A role's number is its place in this list plus one. */
export const ROLES = [
  'miner',
  'issuer',
  'dex',
  'permissioner',
  'blacklister',
  'banned',
  'contract_developer',
  'connection_manager',
  'sender',
  'contract_validator',
] as const;

export type Role = (typeof ROLES)[number];

export const MINER = 1;
export const PERMISSIONER = 4;
export const BANNED = 6;
export const CONTRACT_DEVELOPER = 7;
export const CONNECTION_MANAGER = 8;
export const SENDER = 9;

const numbers = new Map<string, number>(ROLES.map((name, i) => [name, i + 1]));

export const roleNumber = (name: string): number | undefined => numbers.get(name);

export const roleName = (role: number): Role | undefined => ROLES[role - 1];
