-- The primary of replicas.yaml, once it is initialized: from its next start on a commit is confirmed
-- when a replica has it. Replicas copy this setting, so it holds for the next primary, too.
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (first, second)';
