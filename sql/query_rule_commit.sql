-- The best commitment of each pool of an audit ($1), if a discount is known. One row per pool, dearest first.
-- A commitment of L GPUs at discount d costs (1 - d) p L in every hour, use above it p: the total is
-- least where the share of hours with demand <= L reaches d, the d-quantile of hourly demand (nearest rank).
-- d: the cost model's commitment_discount_pct for the provider or for all, else what the provider's
-- own commitments gave in this window. low and high: demand 10 % lower, 10 % higher, same L.
WITH demand AS MATERIALIZED (
    SELECT provider, pool, hour, demand, cost FROM audit.commitment_demand d WHERE audit_id = $1::int
      -- a pool of which money or hours are missing has no price
      AND NOT EXISTS (SELECT 1 FROM audit.audit_gap g JOIN audit.audit_subject s ON s.audit_id = g.audit_id AND s.subject_no = g.subject_no
                      WHERE g.audit_id = $1::int AND s.provider = d.provider AND s.pool = d.pool)
), discount AS (
    SELECT DISTINCT ON (p.provider) p.provider, v.pct / 100 AS d, v.source
    FROM (SELECT DISTINCT provider FROM audit.audit_subject WHERE audit_id = $1::int) p
    JOIN (SELECT CASE scope_kind WHEN 'all' THEN NULL ELSE lower(scope_key) END AS provider, assumed AS pct,
                 CASE scope_kind WHEN 'all' THEN 2 ELSE 1 END AS place, 'the cost model''s assumption' AS source
          FROM audit.audit_assumption
          WHERE audit_id = $1::int AND metric = 'commitment_discount_pct' AND scope_kind IN ('all', 'provider')
          UNION ALL
          SELECT key, value, 3, 'the discount of its own commitments in this window'
          FROM audit.measured WHERE audit_id = $1::int AND metric = 'commitment_discount_pct' AND dimension = 'provider') v
      ON v.provider IS NULL OR v.provider = p.provider
    WHERE v.pct > 0 AND v.pct < 100
    ORDER BY p.provider, v.place
), level AS (
    SELECT c.provider, c.pool, n.d, n.source, percentile_disc(n.d::float8) WITHIN GROUP (ORDER BY c.demand) AS gpus,
           count(*) AS hours, sum(c.demand) AS demand, sum(c.cost) / nullif(sum(c.demand), 0) AS price
    FROM demand c JOIN discount n USING (provider)
    GROUP BY c.provider, c.pool, n.d, n.source
), cost AS (
    SELECT l.provider, l.pool, l.gpus, l.d, l.source, l.hours, l.demand, l.price, m.factor, sum(greatest(c.demand * m.factor - l.gpus, 0)) AS above,
           l.price * m.factor * l.demand - l.price * ((1 - l.d) * l.gpus * l.hours + sum(greatest(c.demand * m.factor - l.gpus, 0))) AS saving
    FROM level l
    JOIN demand c USING (provider, pool)
    CROSS JOIN (VALUES (0.9), (1.0), (1.1)) m(factor)
    WHERE l.gpus > 0 AND l.price > 0
    GROUP BY l.provider, l.pool, l.gpus, l.d, l.source, l.hours, l.demand, l.price, m.factor
)
SELECT provider, pool, trim_scale(gpus) AS gpus, round(100 * d, 2) AS discount_pct, source, hours, round(demand, 2) AS demand,
       round(price, 4) AS price, round(max(saving) FILTER (WHERE factor = 0.9) * 730 / hours, 2) AS saving_low,
       round(max(saving) FILTER (WHERE factor = 1.0) * 730 / hours, 2) AS saving,
       round(max(saving) FILTER (WHERE factor = 1.1) * 730 / hours, 2) AS saving_high,
       round(price * demand * 730 / hours, 2) AS cost_acted_on,
       round(100 * (demand - max(above) FILTER (WHERE factor = 1.0)) / (gpus * hours), 1) AS use_pct
FROM cost
GROUP BY provider, pool, gpus, d, source, hours, demand, price
ORDER BY saving DESC, pool;
