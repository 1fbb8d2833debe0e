-- What is stored belongs to a key's id, not to its name, which a later key can have. The ids of keys of
-- 0.1.0 are their names.
ALTER TABLE conversations RENAME COLUMN key_name TO key_id;
ALTER TABLE responses RENAME COLUMN key_name TO key_id;

-- The name stays for people.
ALTER TABLE usage ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
UPDATE usage SET key_id = key_name;
