/** Options of commands that need no node, and what several commands say of their input. */
import { Option } from 'commander';

export const chainIdOption = (): Option =>
  new Option('-c, --chain-id <character>', 'network id').env('PLATFORM_NODE_CHAIN_ID');

export const nationalOption = (): Option =>
  new Option('--national-crypto', 'as with platform-crypto = no');

export const FAILED_LINES = `
A line that fails gives {"error": code, "message": text} in its place; the exit code is then 1.`;
