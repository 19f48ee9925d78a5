#include "data/buddy.h"

/* Of messages with sizes: above all numbers of copies. */
enum { TAG = 32000 };

void begin_buddies(struct buddies *buddies, const struct ring *ring, int64_t version)
{
    *buddies = (struct buddies){.ring = ring, .version = version};
    begin_flight(&buddies->flight, ring->comm);
    if (ring->shift == 0)
        return;
    buddies->own =
        (struct announced){version, (int64_t)find_copy(ring->number[ring->own], version)->bytes};
    receive_bytes(&buddies->flight, &buddies->other, sizeof buddies->other,
                  partner(ring, ring->own, -1), TAG);
    send_bytes(&buddies->flight, &buddies->own, sizeof buddies->own, partner(ring, ring->own, 1),
               TAG);
}

/* Sizes are known. What comes goes along even if it is of another version, so that nobody waits. */
static void exchange(struct buddies *buddies)
{
    const struct ring *ring = buddies->ring;
    int to = partner(ring, ring->own, 1), from = partner(ring, ring->own, -1);
    buddies->transfers[0] =
        (struct transfer){ring->number[ring->own], ring->own, to, (size_t)buddies->own.bytes};
    buddies->transfers[1] =
        (struct transfer){ring->number[from], from, ring->own, (size_t)buddies->other.bytes};
    buddies->sized = true;
    begin_carrying(&buddies->flight, ring->comm, ring->own, buddies->version, 2,
                   buddies->transfers);
}

bool advance_buddies(struct buddies *buddies)
{
    if (!has_landed(&buddies->flight))
        return false;
    if (buddies->ring->shift == 0 || !buddies->flight.good)
        return true;
    if (!buddies->sized) {
        exchange(buddies);
        return false;
    }
    end_carrying(buddies->ring->own, buddies->version, 2, buddies->transfers);
    if (buddies->other.version != buddies->version)
        drop_copy(find_copy(buddies->transfers[1].number, buddies->version));
    return true;
}
