-- Which resources have tags that are one and say different things, and what was taken? $1 = audit_id.
-- Grain: one row per resource, tag and set of its spellings, the dearest first.
SELECT provider, resource_id, tag, spellings, coalesce(taken, 'nothing') AS taken, why, round(cost, 2) AS cost
FROM audit.audit_tag_collision
WHERE audit_id = $1::int
ORDER BY cost DESC NULLS LAST, provider, resource_id, tag;
