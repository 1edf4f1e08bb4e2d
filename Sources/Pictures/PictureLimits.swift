/// What bounds a picture, however large the work is.
package enum PictureLimits {
    /// Children from which on a group shows them as small squares.
    package static let cellsFrom = 40
    /// Children of one group that are drawn; the group says how many it has.
    package static let cellsMax = 10_000
    /// Operations that are shown as cards before groups fold, unless somebody says how deep to look.
    package static let cardsMax = 150
    /// What the squares of one group count for among `cardsMax`.
    package static let cellsCost = 3
    /// Lines of a timeline.
    package static let lanesMax = 100
    /// Characters of a text in a picture.
    package static let textMax = 300
}
