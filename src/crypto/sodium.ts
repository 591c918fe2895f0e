/**
 * libsodium. An `import` of its package searches 3,000 lines for the names of exports, in every
 * thread: 50 ms of processor time that `require` does not take.
 *
 * The package seeks its addon with twelve modules of another one, which takes as long as all else of
 * it. Where the addon of this platform lies in its usual place, nothing is sought.
 */
import { existsSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import type libsodium from 'sodium-native';

const load = createRequire(import.meta.url);

function loadSodium(): typeof libsodium {
  // The module of the package whose exports are the addon.
  const binding = load.resolve('sodium-native/binding.js');
  const machine = `${platform()}-${arch()}`;
  const addon = join(dirname(binding), 'prebuilds', machine, 'sodium-native.node');
  // Alpine has another one, since its libc is musl.
  if (existsSync(addon) && !existsSync('/etc/alpine-release')) {
    try {
      const found = new Module(binding);
      found.exports = load(addon);
      found.loaded = true;
      load.cache[binding] ??= found;
    } catch {
      // For another libc. The search may find a better one, or else tells what is wrong.
    }
  }
  return load('sodium-native');
}

export const sodium: typeof libsodium = loadSodium();
